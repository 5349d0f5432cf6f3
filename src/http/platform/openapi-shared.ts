/**
 * What operations have in common stands once in the document, below `components`: each response of an error, of which 107 operations
 * have 41, and the most frequent form of each parameter. Written out, they are two fifths of the document.
 */
import { isObject, type Json, mapped } from './openapi-shape.ts'

/** The same document, in which operations refer to what they share. */
export function withSharedParts(document: Json): Json {
  const usual = usualParameters(document)
  const responses: Record<string, unknown> = {}
  const parameters: Record<string, unknown> = {}
  const referTo = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

  const shareParameter = (parameter: unknown) => {
    const name = nameOfParameter(parameter)
    if (usual.get(name) !== JSON.stringify(parameter)) return parameter
    parameters[name] = parameter
    return referTo('parameters', name)
  }
  const shareResponse = (response: unknown) => {
    const name = nameOfProblem(response)
    if (name === undefined) return response
    responses[name] = response
    return referTo('responses', name)
  }

  const paths = changeParts(document.paths, shareParameter, shareResponse)
  return { ...document, components: { ...asObject(document.components), responses, parameters }, paths }
}

/** The document with each shared part in its place again: for programs that read operations one by one. */
export function withPartsInPlace(document: object): Json {
  const { components: all, paths, ...rest } = asObject(document)
  const { responses, parameters, ...components } = asObject(all)
  const shared = { responses: asObject(responses), parameters: asObject(parameters) }
  const find = (kind: keyof typeof shared) => (part: unknown) => {
    const [, name] = String(asObject(part).$ref).split(`#/components/${kind}/`)
    return name === undefined ? part : shared[kind][name]
  }
  return { ...rest, components, paths: changeParts(paths, find('parameters'), find('responses')) }
}

function changeParts(paths: unknown, ofParameter: (one: unknown) => unknown, ofResponse: (one: unknown) => unknown) {
  return mapped(asObject(paths), (_path, methods) =>
    mapped(asObject(methods), (_method, operation) => {
      const { parameters, responses, ...rest } = asObject(operation)
      const own = Array.isArray(parameters) ? { parameters: parameters.map(ofParameter) } : {}
      return { ...rest, ...own, responses: mapped(asObject(responses), (_status, response) => ofResponse(response)) }
    }),
  )
}

/** The most frequent form of each parameter that several operations have, as JSON, by its name. */
function usualParameters(document: Json): ReadonlyMap<string, string> {
  const all = Object.values(asObject(document.paths))
    .flatMap(methods => Object.values(asObject(methods)))
    .flatMap(operation => asObject(operation).parameters ?? [])
  const forms = [...Map.groupBy(all, parameter => JSON.stringify(parameter))]
    .filter(([, uses]) => uses.length > 1)
    .sort(([, one], [, other]) => one.length - other.length)
  // The last one of a name stays.
  return new Map(forms.map(([form, uses]) => [nameOfParameter(uses[0]), form]))
}

/** `UserIdOfPath` for `user_id` of a path. */
function nameOfParameter(parameter: unknown): string {
  const { name, in: place } = asObject(parameter)
  return `${pascal(String(name))}Of${pascal(String(place))}`
}

/** The codes of an error response, as in `NotFoundOrUnknownUser`; undefined for another response. */
function nameOfProblem(response: unknown): string | undefined {
  const problem = asObject(asObject(asObject(response).content)['application/problem+json'])
  const codes = Object.keys(asObject(problem.examples))
  return codes.length === 0 ? undefined : codes.map(pascal).join('Or')
}

const pascal = (words: string) =>
  words.replaceAll(/(?:^|[_-])([a-z])/g, (_match, letter: string) => letter.toUpperCase())

const asObject = (value: unknown): Json => (isObject(value) ? value : {})
