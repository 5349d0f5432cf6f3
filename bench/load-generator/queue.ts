/** A FIFO queue whose memory is bounded by its length. */
export interface Queue<T> {
  push(item: T): void
  /** Undefined if the queue is empty. */
  shift(): T | undefined
  length(): number
}

export function createQueue<T>(): Queue<T> {
  let items: T[] = []
  let first = 0
  return {
    push: item => items.push(item),
    shift() {
      if (first === items.length) return undefined
      const item = items[first]
      first += 1
      if (first > 1024 && first * 2 > items.length) {
        items = items.slice(first)
        first = 0
      }
      return item
    },
    length: () => items.length - first,
  }
}
