import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { Empty } from './empty.tsx'
import { PageTitle } from './page-title.tsx'

export function NotFound() {
  return (
    <>
      <PageTitle title="There is no such page" />
      <Empty title="Nothing is at this address, or not for you.">
        <Anchor component={Link} href="/" underline="always">
          Go to the first page
        </Anchor>
      </Empty>
    </>
  )
}
