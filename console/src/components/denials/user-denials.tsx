import type { ViewedUser } from '../user/viewed-user.ts'
import { Denials } from './denials.tsx'

/** The denials of one user. */
export default function UserDenials({ user }: { user: ViewedUser }) {
  return <Denials scope={user} />
}
