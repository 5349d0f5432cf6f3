import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { texts } from '../texts/texts.ts'
import { EmptyState } from './loaded.tsx'
import { PageTitle } from './page-title.tsx'

const NOT_FOUND = texts.components.notFound

export function NotFound() {
  return (
    <>
      <PageTitle title={NOT_FOUND.title} />
      <EmptyState title={NOT_FOUND.text}>
        <Anchor component={Link} href="/" underline="always">
          {NOT_FOUND.toStart}
        </Anchor>
      </EmptyState>
    </>
  )
}
