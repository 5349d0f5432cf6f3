/** Sign-in, and its end. */
export const session = {}
