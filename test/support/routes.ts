/** The routes that servers register while something is made, also those that the OpenAPI document does not have. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'

export async function watchRoutes<Made>(
  note: (route: RouteOptions, server: FastifyInstance) => void,
  make: () => Promise<Made>,
): Promise<Made> {
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', function (route) {
      note(route, this)
    })
  }
  subscribe('fastify.initialization', watch)
  try {
    return await make()
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
}

/** Notes each as `METHOD /path`. */
export const noteIn =
  (names: string[]) =>
  ({ method, url }: RouteOptions): void => {
    for (const name of [method].flat()) names.push(`${name} ${url}`)
  }
