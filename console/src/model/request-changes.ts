interface AnyChange {
  actor: string | null
  request_id: string | null
  reason: string | null
}

/** What one request changed: the change that tells most, and the others. */
export interface RequestChanges<Change> {
  head: Change
  others: readonly Change[]
}

/**
 * Puts the changes of each request together, in the order of the list. A bulk change counts as one, too. Callers choose their request
 * ids: changes of others under the same id are entries of their own, so that each change stands beside its author.
 */
export function requestsOf<Change extends AnyChange>(changes: readonly Change[]): RequestChanges<Change>[] {
  const groups = Map.groupBy<unknown, Change>(changes, change =>
    change.request_id === null ? change : JSON.stringify([change.actor, change.request_id]),
  )
  return [...groups.values()].flatMap(group => {
    const head = group.find(({ reason }) => reason !== null) ?? group[0]
    return head === undefined ? [] : [{ head, others: group.filter(change => change !== head) }]
  })
}
