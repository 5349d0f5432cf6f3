/**
 * A cap that is raised for its current window only. It ends with the window, and another cap with the old limit follows it
 * (docs/decisions/console.md). These keys of their metadata tell of it.
 */

/** The limit before, in the metadata of the raised cap. */
export const RAISED_FROM = 'raised_from'
/** The id of the cap that follows, in the metadata of the raised cap. */
export const CONTINUED_BY = 'continued_by'
/** The id of the raised cap, in the metadata of the cap that follows. */
export const CONTINUES = 'continues_quota'
