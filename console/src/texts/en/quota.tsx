/** One quota: its page, forms and dialogs. */
export const quota = {}
