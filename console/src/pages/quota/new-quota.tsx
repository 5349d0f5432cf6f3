import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function NewQuota() {
  return (
    <>
      <PageTitle title="New quota" />
      <Empty title="This page is still to come." />
    </>
  )
}
