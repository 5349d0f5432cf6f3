/** The first run: what to do with an empty service. */
export const start = {}
