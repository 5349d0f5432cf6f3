import { Button, Code, Text, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import classes from './webhook.module.css'

/** A secret, for the one time that it is shown, and what to do with it. */
export function Secret({ secret }: { secret: string }) {
  return (
    <div className={classes.secret}>
      <Text size="sm" fw={600}>
        Copy the secret now: it is not shown again.
      </Text>
      <Text size="sm" mb="sm">
        Keep it like a password, where the receiver runs. Each call is signed with it.
      </Text>
      <CopyField label="Signing secret" value={secret} />
      <Text size="sm" mt="sm" mb={4}>
        The receiver checks each call with a library of Standard Webhooks, in Node.js for example:
      </Text>
      <Code block>{`import { Webhook } from 'standardwebhooks'\nnew Webhook(secret).verify(body, headers)`}</Code>
    </div>
  )
}

const NOT_COPIED = 'This browser does not let the page copy: the secret is marked, copy it by hand.'

function CopyField({ label, value }: { label: string; value: string }) {
  const field = useRef<HTMLInputElement>(null)
  const [outcome, setOutcome] = useState('')

  async function copy() {
    field.current?.select()
    try {
      await navigator.clipboard.writeText(value)
      setOutcome('Copied.')
    } catch {
      setOutcome(NOT_COPIED)
    }
  }
  return (
    <>
      <div className={classes.copy}>
        <TextInput
          ref={field}
          label={label}
          value={value}
          readOnly
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: classes.code ?? '' }}
          onFocus={event => event.currentTarget.select()}
        />
        <Button onClick={copy}>Copy</Button>
      </div>
      <Text size="sm" role="status">
        {outcome}
      </Text>
    </>
  )
}
