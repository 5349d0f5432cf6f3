import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function Mine() {
  return (
    <>
      <PageTitle title="My quotas" />
      <Empty title="This page is still to come." />
    </>
  )
}
