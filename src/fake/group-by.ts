/** `Map.groupBy`, which Node.js has from 21 on. The bundle uses this in its place. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  let index = 0
  for (const item of items) {
    const key = keyOf(item, index)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
    index += 1
  }
  return groups
}
