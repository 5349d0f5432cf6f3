import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function User() {
  return (
    <>
      <PageTitle title="User" />
      <Empty title="This page is still to come." />
    </>
  )
}
