import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function Overview() {
  return (
    <>
      <PageTitle title="Overview" />
      <Empty title="This page is still to come." />
    </>
  )
}
