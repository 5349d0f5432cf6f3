import { TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { uint } from '../components/url-state.ts'
import classes from './shell.module.css'

/** Opens a user's page by id. There is no list of users, because they belong to another system. */
export function GoToUser({ onGo }: { onGo: () => void }) {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [isInvalid, setInvalid] = useState(false)

  function go(event: FormEvent) {
    event.preventDefault()
    const user_id = uint(text.trim())
    setInvalid(user_id === null)
    if (user_id === null) return
    setText('')
    navigate(`/users/${user_id}`)
    onGo()
  }
  return (
    <form className={classes.goto} onSubmit={go} noValidate>
      <TextInput
        label="Go to user"
        size="xs"
        inputMode="numeric"
        placeholder="User id, then Enter"
        autoComplete="off"
        value={text}
        onChange={event => {
          setText(event.currentTarget.value)
          setInvalid(false)
        }}
        error={isInvalid && 'Enter a whole number'}
        errorProps={{ role: 'alert' }}
      />
    </form>
  )
}
