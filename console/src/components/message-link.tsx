import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { ViewedUser } from '../queries/user.ts'

/** The page of the life of a message. @param id the sender's */
export function messageUrl({ user_id, isOwn }: ViewedUser, id: string): string {
  return `${isOwn ? '/mine' : `/users/${user_id}`}/messages/${encodeURIComponent(id)}`
}

/** A message's id as a link to its life. */
export function MessageLink({ user, id }: { user: ViewedUser; id: string }) {
  return (
    <Anchor component={Link} href={messageUrl(user, id)} size="sm" fw={600}>
      <bdi>{id}</bdi>
    </Anchor>
  )
}
