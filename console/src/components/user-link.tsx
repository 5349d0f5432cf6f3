import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from 'wouter'
import { calledOf, type NamedUser } from '../model/addresses.ts'
import classes from './data-table.module.css'

interface UserNameProps {
  user: NamedUser
  /** In place of the id alone, where no heading says whose it is. */
  unnamed?: string | undefined
}

/** What a user is called, and the id beside it; the id alone if the user has neither name nor reference. */
export function UserName({ user, unnamed }: UserNameProps) {
  const called = calledOf(user)
  if (called === null) return unnamed ?? user.user_id
  return (
    <span className={classes.name}>
      <bdi>{called}</bdi> ({user.user_id})
    </span>
  )
}

interface UserLinkProps extends UserNameProps, Pick<AnchorProps, 'size' | 'fw' | 'inherit' | 'underline'> {
  /** By default the user's page. */
  href?: string
}

export function UserLink({ user, unnamed, href = `/users/${user.user_id}`, size = 'sm', ...looks }: UserLinkProps) {
  return (
    <Anchor component={Link} href={href} size={size} {...looks}>
      <UserName user={user} unnamed={unnamed} />
    </Anchor>
  )
}
