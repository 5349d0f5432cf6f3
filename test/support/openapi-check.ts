import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { withPartsInPlace } from '../../src/http/platform/openapi-shared.ts'

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

/**
 * Checks responses against the OpenAPI document that the service itself serves: the path, the status and the body must be
 * documented. The validator (Ajv) is independent of the service's own.
 */
export function createAnswerCheck(document: object) {
  const { paths, components } = withPartsInPlace(document) as unknown as Document
  // A validator checks a few answers: to make all of them short takes four times as long as to make them.
  const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } })
  addFormats.default(ajv)
  for (const name of ['text', 'identifier', 'time-zone', 'country', 'webhook-url']) ajv.addFormat(name, true)
  ajv.addSchema({ $id: 'openapi', components })
  const validators = new Map<string, ValidateFunction>()
  const templates = Object.keys(paths).map(template => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    weight: template.includes('{') ? 1 : 0,
  }))
  templates.sort((one, other) => one.weight - other.weight)

  return function check(method: string, url: string, status: number, contentType: string, body: string): void {
    const path = url.split('?')[0] ?? ''
    const template = templates.find(({ pattern }) => pattern.test(path))?.template
    const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()]
    if (template === undefined || operation === undefined) return
    const answer = operation.responses[String(status)]
    if (answer === undefined) throw new Error(`${method} ${template} does not document the status ${status}: ${body}`)
    if (answer.content === undefined) {
      if (body !== '') throw new Error(`${method} ${template} ${status} should have no body, but has ${body}`)
      return
    }
    const mediaType = contentType.split(';')[0] ?? ''
    const schema = answer.content[mediaType]?.schema
    if (schema === undefined) throw new Error(`${method} ${template} ${status} does not document ${mediaType}`)
    // Nine of ten answers that are documented have the schema of a problem.
    const text = JSON.stringify(schema)
    let validate = validators.get(text)
    if (validate === undefined) {
      validate = ajv.compile(JSON.parse(text.replaceAll('"#/components/', '"openapi#/components/')))
      validators.set(text, validate)
    }
    for (const content of contentsOf(mediaType, body)) {
      if (validate(content)) continue
      throw new Error(
        `${method} ${template} ${status}: the response does not match the document: ${ajv.errorsText(validate.errors)}: ${body}`,
      )
    }
  }
}

/** What the schema describes: each line of newline-delimited JSON, otherwise the whole body. */
function contentsOf(mediaType: string, body: string): unknown[] {
  if (mediaType === 'application/x-ndjson')
    return body
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line))
  return [mediaType.endsWith('json') ? JSON.parse(body) : body]
}
