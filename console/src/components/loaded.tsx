import { Skeleton, Text, VisuallyHidden } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { retryDelayOf } from '../api/problem.ts'
import { texts } from '../texts/texts.ts'
import { ErrorNotice } from './error-notice.tsx'
import classes from './notice.module.css'

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

const SLOTS = Array.from({ length: 20 }, (_, slot) => slot)

/**
 * Placeholder rows, as high as the expected content so that the layout does not shift.
 * @param rows at most 20
 */
export function Loading({ rows = 4, height = 28 }: { rows?: number; height?: number }) {
  return (
    <div role="status">
      <VisuallyHidden>{texts.components.loading}</VisuallyHidden>
      {SLOTS.slice(0, rows).map(slot => (
        <Skeleton key={slot} height={height} mb={8} />
      ))}
    </div>
  )
}

/** Replaces an empty list: why it is empty, and what the user can do. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={classes.notice}>
      <Text fw={600} size="sm">
        {title}
      </Text>
      {children !== undefined && (
        <Text size="sm" c="dimmed" component="div" mt={4}>
          {children}
        </Text>
      )}
    </div>
  )
}

interface NoRowsProps {
  /** Whether a later page may have some. */
  hasMore: boolean
  /** Whether it is a later page. */
  isOlder: boolean
  isFiltered: boolean
  /** What else keeps rows from being found. */
  kept?: string | undefined
  /** Where there are none at all. */
  none: ReactNode
}

/** In place of the rows of a list: older ones are not searched yet, none is older, none matches the filters, or there are none. */
export function NoRows({ hasMore, isOlder, isFiltered, kept, none }: NoRowsProps) {
  const { searching, searchingAbout, older, filtered } = texts.components.noRows
  if (hasMore) return <EmptyState title={searching}>{searchingAbout}</EmptyState>
  if (isOlder) return <EmptyState title={older} />
  return isFiltered ? <EmptyState title={filtered}>{kept}</EmptyState> : none
}
