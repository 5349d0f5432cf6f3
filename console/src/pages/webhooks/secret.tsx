import { Button, Code, Text, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import classes from './webhook.module.css'

/** A new secret, which is shown only once, with instructions. */
export function Secret({ secret }: { secret: string }) {
  return (
    <div className={classes.secret}>
      <Text size="sm" fw={600}>
        Copy the secret now. It is not shown again.
      </Text>
      <Text size="sm" mb="sm">
        Store it like a password at the receiver. Each delivery is signed with it.
      </Text>
      <CopyField label="Signing secret" value={secret} />
      <Text size="sm" mt="sm" mb={4}>
        Verify deliveries with a Standard Webhooks library, for example in Node.js:
      </Text>
      <Code block>{`import { Webhook } from 'standardwebhooks'\nnew Webhook(secret).verify(body, headers)`}</Code>
    </div>
  )
}

const NOT_COPIED = 'The browser does not allow copying. The secret is selected: copy it manually.'

function CopyField({ label, value }: { label: string; value: string }) {
  const field = useRef<HTMLInputElement>(null)
  const [result, setResult] = useState('')

  async function copy() {
    field.current?.select()
    try {
      await navigator.clipboard.writeText(value)
      setResult('Copied.')
    } catch {
      setResult(NOT_COPIED)
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
        {result}
      </Text>
    </>
  )
}
