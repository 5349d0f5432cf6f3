/** Webhooks and their deliveries. */
export const webhooks = {}
