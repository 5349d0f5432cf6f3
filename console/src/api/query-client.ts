import { QueryClient } from '@tanstack/react-query'
import { retryDelayOf } from './problem.ts'

/** The query cache. Transient errors are shown and retried automatically, other errors only by the user. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      refetchInterval: query => retryDelayOf(query.state.error) ?? false,
      // The browser can be offline while a service on localhost is reachable.
      networkMode: 'always',
      staleTime: 5_000,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

// The name by which the tools of developers in a browser find it, and the tests of the console.
Object.assign(globalThis, { __TANSTACK_QUERY_CLIENT__: queryClient })
