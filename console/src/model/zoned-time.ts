/** A time in a zone, with its offset: "2026-12-01T00:00:00+01:00". Spreadsheets and programs read it. */
export function zonedTime(at: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
  })
  const parts = new Map(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]))
  const [year, month, day, hour, minute, second] = (['year', 'month', 'day', 'hour', 'minute', 'second'] as const).map(
    type => parts.get(type),
  )
  // "GMT+01:00", and "GMT" alone for UTC.
  const offset = parts.get('timeZoneName')?.replace('GMT', '')
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset === '' ? '+00:00' : offset}`
}
