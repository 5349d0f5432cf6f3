/** What a message costs. */
export const cost = {}
