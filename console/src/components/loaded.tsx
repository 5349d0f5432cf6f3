import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { retryDelayOf } from '../api/problem.ts'
import { ErrorNotice } from './error-notice.tsx'

interface LoadedProps<T> {
  query: UseQueryResult<T>
  /** Placeholder for the first load, as high as the content. */
  loading: ReactNode
  children: (data: T) => ReactNode
}

/**
 * Renders the data of a query. Loaded data stays visible while it is refetched and after a failed refetch; an error
 * that is not retried automatically is shown above it.
 */
export function Loaded<T>({ query, loading, children }: LoadedProps<T>) {
  const { data, error, refetch } = query
  if (data === undefined)
    return error === null ? loading : <ErrorNotice variant="load" error={error} onRetry={refetch} />
  return (
    <>
      {error !== null && retryDelayOf(error) === null && <ErrorNotice variant="load" error={error} onRetry={refetch} />}
      {children(data)}
    </>
  )
}
