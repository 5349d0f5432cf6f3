/** Parts that several pages share: dialogs, errors, lists. */
export const components = {}
