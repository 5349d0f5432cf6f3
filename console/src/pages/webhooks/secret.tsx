import { Code, Text, TextInput } from '@mantine/core'
import { useRef } from 'react'
import { CopyButton } from '../../components/copy-button.tsx'
import { texts } from '../../texts/texts.ts'
import classes from './webhook.module.css'

const { secret: words } = texts.webhooks

/** A new secret, which is shown only once, with instructions. */
export function Secret({ secret }: { secret: string }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <div className={classes.secret}>
      <Text size="sm" fw={600}>
        {words.copyNow}
      </Text>
      <Text size="sm" mb="sm">
        {words.about}
      </Text>
      <div className={classes.copy}>
        <TextInput
          ref={field}
          label={words.label}
          value={secret}
          readOnly
          spellCheck={false}
          autoComplete="off"
          classNames={{ input: classes.code }}
          onFocus={event => event.currentTarget.select()}
        />
        <CopyButton value={secret} onSelect={() => field.current?.select()} />
      </div>
      <Text size="sm" mt="sm" mb={4}>
        {words.verify}
      </Text>
      <Code block>{`import { Webhook } from 'standardwebhooks'\nnew Webhook(secret).verify(body, headers)`}</Code>
    </div>
  )
}
