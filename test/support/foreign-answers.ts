/** Answers that are not the service's: of a captive portal, of a proxy, of another service. */

const page =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    new Response('<h1>Welcome</h1>', { status, headers: { 'content-type': 'text/html', ...headers } })
const json =
  (body: unknown, status = 200, type = 'application/json') =>
  () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': type } })

export const FOREIGN_ANSWERS: Readonly<Record<string, () => Response>> = {
  'a page': page(200),
  'a page that calls itself JSON': page(200, { 'content-type': 'application/json' }),
  'a text': () => new Response('ok'),
  'an empty body': () => new Response(''),
  'no content': () => new Response(null, { status: 204 }),
  null: json(null),
  'an empty object': json({}),
  'an empty list': json([]),
  'other JSON': json({ hello: 1 }),
  'members of other types': json({ granted: 'yes', state: 1, results: {}, items: 7, id: null }),
  'a problem with status 200': json(
    { code: 'not_found', detail: 'None.', status: 404 },
    200,
    'application/problem+json',
  ),
  'a page with status 400': page(400),
  'a page with status 401': page(401),
  'a page with status 403': page(403),
  'a page with status 404': page(404),
  'a page with status 409': page(409),
  'a page with status 500': page(500),
  'a page with status 502': page(502),
  'JSON of another service': json({ message: 'Not Found', statusCode: 404 }, 404),
  'a problem of another service': json({ title: 'Not Found', status: 404 }, 404, 'application/problem+json'),
  'a problem that is no JSON': page(409, { 'content-type': 'application/problem+json' }),
  'a redirect': page(307, { location: 'http://elsewhere.example/login' }),
  'a redirect to a page': page(302, { location: '/login' }),
}

/** One of each kind, for tests of what follows: that each answer is silence for each operation has a test of its own. */
export const SOME_FOREIGN_ANSWERS = Object.entries(FOREIGN_ANSWERS).filter(([name]) =>
  [
    'a page',
    'no content',
    'members of other types',
    'a page with status 404',
    'a page with status 502',
    'a problem of another service',
    'a redirect',
  ].includes(name),
)
