import { Gauge, type Registry } from '@prometheus-io/client'

type Read = () => number

/** Registers a gauge that is read at each scrape. Returns the function that sets how; until then it is 0. */
export function gaugeAtScrape(registers: Registry[], name: string, help: string): (read: Read) => void {
  let read: Read = () => 0
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read())
    },
  })
  return watched => {
    read = watched
  }
}
