import { QueryClient } from '@tanstack/react-query'
import { retryDelayOf } from './problem.ts'

/**
 * What the pages have read. What fails for want of the service is asked again by itself, and shown as failed
 * meanwhile; anything else only when somebody asks.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      refetchInterval: query => retryDelayOf(query.state.error) ?? false,
      // The browser's idea of being online says nothing about a service on this machine.
      networkMode: 'always',
      staleTime: 5_000,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
