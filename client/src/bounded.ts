/** Reads an answer without trust in its length: what answers may not be the service. */

/** No answer of the service that is read as a whole is nearly as long. */
const MAX_BYTES = 64 * 1024 * 1024

export class AnswerTooLong extends Error {
  constructor(max: number) {
    super(`the answer, or a line of it, is longer than ${max} bytes`)
  }
}

/** The text of an answer. @throws AnswerTooLong */
export async function textOf(response: Response): Promise<string> {
  const length = response.headers.get('content-length')
  // The connection ends such an answer there. Encoded ones become longer.
  if (length !== null && Number(length) <= MAX_BYTES && !response.headers.has('content-encoding'))
    return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new AnswerTooLong(MAX_BYTES)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
