/** Usage over time. */
export const usage = {}
