/** The list of quotas, and changes to many. */
export const quotas = {}
