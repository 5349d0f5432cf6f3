import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { EmptyState } from './empty-state.tsx'
import { PageTitle } from './page-title.tsx'

export function NotFound() {
  return (
    <>
      <PageTitle title="Page not found" />
      <EmptyState title="This page does not exist, or you do not have access to it.">
        <Anchor component={Link} href="/" underline="always">
          Go to the start page
        </Anchor>
      </EmptyState>
    </>
  )
}
