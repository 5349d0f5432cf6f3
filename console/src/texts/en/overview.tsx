/** The overview of the platform. */
export const overview = {}
