/** The routes that need no token, each with a path of it. test/http/open-paths.test.ts compares them with the server's. */
export const OPEN_PATHS: Readonly<Record<string, string>> = {
  '/livez': '/livez',
  '/readyz': '/readyz',
  '/metrics': '/metrics',
  '/openapi.json': '/openapi.json',
  '/docs': '/docs',
  '/docs/errors': '/docs/errors',
  '/docs/json': '/docs/json',
  '/docs/yaml': '/docs/yaml',
  '/docs/static/index.html': '/docs/static/index.html',
  '/docs/static/swagger-initializer.js': '/docs/static/swagger-initializer.js',
  // The largest file of all.
  '/docs/static/*': '/docs/static/swagger-ui-bundle.js',
  '/': '/',
  '/console': '/console',
  '/console/*': '/console/quotas',
  // Looks for a file that does not exist.
  '/console/assets/*': '/console/assets/nothing.js',
  '/console/config.json': '/console/config.json',
  '/console/provider.json': '/console/provider.json',
  '/console/signed-in': '/console/signed-in',
}
