/** A change of many that was confirmed and has not ended, as this tab keeps it. */
interface Unfinished<Change> {
  keep(change: Change, subject: string): void
  forget(): void
  /** The change that the tab has not ended; null if another principal confirmed it. */
  of(subject: string): Change | null
}

/** Keeps changes of one kind while the tab is open: after a reload one goes on under the same key, and so changes nothing twice. */
export function createUnfinished<Change extends object>(name: string): Unfinished<Change> {
  return {
    keep(change, subject) {
      try {
        // The service keeps the keys of each principal apart, so no other principal may go on with it.
        sessionStorage.setItem(name, JSON.stringify({ ...change, subject }))
      } catch {
        // Larger than the browser stores. The change goes on, but not after a reload.
      }
    },
    forget: () => sessionStorage.removeItem(name),
    of(subject) {
      // Only the console writes there, so what is stored has this form.
      const stored: (Change & { subject: string }) | null = JSON.parse(sessionStorage.getItem(name) ?? 'null')
      return stored?.subject === subject ? stored : null
    },
  }
}
