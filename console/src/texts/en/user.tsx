/** A user's page and “My quotas”. */
export const user = {}
