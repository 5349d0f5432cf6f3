import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Line, linesOf } from '../../src/http/platform/ndjson.ts'

async function read(chunks: Iterable<Uint8Array>, maxBytes = 1_000): Promise<Line[]> {
  const stream = (async function* () {
    yield* chunks
  })()
  const lines: Line[] = []
  for await (const group of linesOf(stream, maxBytes)) lines.push(...group)
  return lines
}

test('lines are the same, however the bytes are cut', async () => {
  const cuts = fc.array(fc.nat(40), { maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('a', '\n', 'é', '🙂'), maxLength: 30 }),
      cuts,
      async (text, at) => {
        const bytes = Buffer.from(text)
        const places = [
          0,
          ...at.map(place => Math.min(place, bytes.length)).sort((one, other) => one - other),
          bytes.length,
        ]
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
        const expected = text.replace(/\n$/, '').split('\n')
        const lines = text === '' ? [] : expected.map((line, index) => ({ number: index + 1, text: line }))
        expect(await read(chunks)).toEqual(lines)
      },
    ),
  )
})

test('a line that is too long or not UTF-8 has no text, and the next one is read', async () => {
  const bytes = Buffer.concat([
    Buffer.from(`${'x'.repeat(11)}\nok\r\n`),
    Buffer.from([0xff]),
    Buffer.from('\n\uFEFFlast'),
  ])
  const expected = [null, 'ok', null, 'last'].map((text, index) => ({ number: index + 1, text }))
  expect(await read([bytes], 10)).toEqual(expected)
  expect(
    await read(
      [...bytes].map(byte => Uint8Array.of(byte)),
      10,
    ),
  ).toEqual(expected)
})
