import { Anchor } from '@mantine/core'
import { use } from 'react'
import { consoleConfig } from '../session/console-config.ts'
import { texts } from '../texts/texts.ts'

/** Who helps users, as the operator says it; nothing if the operator does not. Suspends until that is loaded. */
export default function Contact() {
  const { text, url } = use(consoleConfig()).contact
  const { ask, open } = texts.components.contact
  if (text === null && url === null) return null
  return (
    <>
      {text === null ? '' : `${text} `}
      {url !== null && (
        <Anchor href={url} inherit underline="always" rel="noreferrer">
          {text === null ? ask : open}
        </Anchor>
      )}
    </>
  )
}
