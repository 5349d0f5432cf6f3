import { Empty } from '../../parts/empty.tsx'
import { PageTitle } from '../../parts/page-title.tsx'

export default function Cost() {
  return (
    <>
      <PageTitle title="Message cost" />
      <Empty title="This page is still to come." />
    </>
  )
}
