import { Denials } from '../../components/denials/denials.tsx'
import { PageTitle } from '../../components/page-title.tsx'

/** The denials of all users. */
export default function AllDenials() {
  return (
    <>
      <PageTitle title="Denials" about="Denied messages of all users, and why they were denied." />
      <Denials scope={null} />
    </>
  )
}
