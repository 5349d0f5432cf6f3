import { TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { uint } from '../parts/url-state.ts'
import classes from './shell.module.css'

/** The way to a user's page for who knows the id: users belong to another system, so there is no list of them. */
export function GoToUser({ onGo }: { onGo: () => void }) {
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)

  function go(event: FormEvent) {
    event.preventDefault()
    const user_id = uint(text.trim())
    setWrong(user_id === null)
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
          setWrong(false)
        }}
        error={isWrong && 'A user id is a whole number'}
        errorProps={{ role: 'alert' }}
      />
    </form>
  )
}
