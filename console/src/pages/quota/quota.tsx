import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function Quota() {
  return (
    <>
      <PageTitle title="Quota" />
      <Empty title="This page is still to come." />
    </>
  )
}
