import type { FastifyInstance } from 'fastify'
import { invalidRequest, Problem } from '../../errors.ts'
import { repeatedHeader } from './headers.ts'

const ENCODED = 'In a path, letters, digits and - . _ ~ must not be percent-encoded.'

/** The percent-encoding of a character that needs none: a letter, a digit, or one of `-._~`. */
const NEEDLESS_ENCODING = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i

/**
 * Refuses requests with a header twice that counts once. Refuses paths that a proxy may read in another way than the router: a rule for `/metrics` does not see `/%6detrics` or
 * `/metrics#`. Then refuses requests for a path that does not exist (404), and for a method that the path does not have (405 with `Allow`),
 * before anything else is looked at. Covers the routes that are registered after this call.
 */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>()

  app.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    for (const name of [method].flat()) route.methods.add(name)
    routes.set(url, route)
  })

  /** The methods of a path; none if it does not exist. */
  function methodsOf(path: string): string[] {
    const exact = routes.get(path)
    const matching = exact === undefined ? [...routes.values()].filter(({ pattern }) => pattern.test(path)) : [exact]
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].toSorted()
  }

  app.addHook('onRequest', (request, _reply, done) => {
    const repeated = repeatedHeader(request.raw.rawHeaders)
    if (repeated !== undefined) return done(invalidRequest([{ path: `/${repeated}`, message: 'must be sent once' }]))
    const { url } = request.routeOptions
    if (request.url === url) return done()
    const path = pathOf(request.url)
    if (NEEDLESS_ENCODING.test(path)) return done(new Problem('invalid_request', ENCODED))
    if (request.url.includes('#'))
      return done(new Problem('invalid_request', 'A URL is sent without its fragment (#).'))
    // For PUT /quota/list the router takes "list" for an id, because only GET /quota/list is a route.
    // A route of its own with a final slash, such as /docs/, has the URL without it.
    const isMistaken = path !== url && path !== `${url}/` && routes.has(path)
    if (!request.is404 && !isMistaken) return done()
    const methods = methodsOf(path)
    if (methods.length === 0) return done(new Problem('not_found', 'This route does not exist.'))
    const allow = methods.join(', ')
    done(new Problem('method_not_allowed', `This path has the methods ${allow}.`, { headers: { allow } }))
  })
}

function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  return end < 0 ? url : url.slice(0, end)
}

/** A pattern that matches the paths of a route with `:parameters` and a final `*`. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map(part => {
    if (part === '*') return '.*'
    return part.startsWith(':') ? '[^/]+' : RegExp.escape(part)
  })
  return new RegExp(`^${parts.join('/')}$`)
}
