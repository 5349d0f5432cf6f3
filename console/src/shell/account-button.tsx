import { UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { ComponentProps } from 'react'
import { Icon } from '../components/icon.tsx'
import type { Caller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'
import classes from './shell.module.css'

interface AccountButtonProps extends ComponentProps<'button'> {
  caller: Caller
}

/** Opens the account menu. On narrow screens it shows the icon alone. */
export function AccountButton({ caller: { subject, name, user_id }, ...props }: AccountButtonProps) {
  return (
    <UnstyledButton {...props} className={classes.account}>
      <Icon name="user" />
      <VisuallyHidden>{texts.shell.account.label}</VisuallyHidden>
      <span>{name ?? (user_id === null ? subject : texts.shell.account.user(user_id))}</span>
    </UnstyledButton>
  )
}
