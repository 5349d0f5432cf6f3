import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { formatList } from '../formats.ts'
import { texts } from '../texts/texts.ts'
import { EmptyState } from './loaded.tsx'
import { useMeaningless } from './url-state.ts'

interface KnownFiltersProps {
  readers: Parameters<typeof useMeaningless>[0]
  /** The list that the filters select. */
  children: ReactNode
}

/** A list, or, instead of it, which filters of the URL mean nothing. */
export function KnownFilters({ readers, children }: KnownFiltersProps) {
  const [location] = useLocation()
  const unknown = useMeaningless(readers)
  if (unknown.length === 0) return children
  const { title, without } = texts.components.unknownFilters
  return (
    <EmptyState title={title(formatList(unknown.map(([name, value]) => `${name}=${value}`)), unknown.length)}>
      <Anchor component={Link} href={location} underline="always" inherit>
        {without}
      </Anchor>
    </EmptyState>
  )
}
