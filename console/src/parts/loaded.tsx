import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { retryDelayOf } from '../api/problem.ts'
import { Failure } from './failure.tsx'

interface LoadedProps<T> {
  query: UseQueryResult<T>
  /** Stands there until there is something, as high as that will be. */
  loading: ReactNode
  children: (data: T) => ReactNode
}

/**
 * What a query has read, once it has. What was read stays while it is read anew, and when that fails: with a word if
 * it will not come by itself.
 */
export function Loaded<T>({ query, loading, children }: LoadedProps<T>) {
  const { data, error, refetch } = query
  if (data === undefined) return error === null ? loading : <Failure error={error} onRetry={refetch} />
  return (
    <>
      {error !== null && retryDelayOf(error) === null && <Failure error={error} onRetry={refetch} />}
      {children(data)}
    </>
  )
}
