/** E-mails to users: the link that confirms an address, and messages about their own events, each with a link that ends them. */
import { randomUUID } from 'node:crypto'
import type { Attempt } from '../db/webhooks/deliveries.ts'
import type { Recipient } from '../db/webhooks/recipients.ts'
import { emailContent } from '../messages/formats.ts'
import { confirmationOf, type Message } from '../messages/message.ts'
import type { AddressCodes } from './address-codes.ts'
import type { Mailer } from './mailer.ts'

/** A message is made in the language of the user, with the link that ends such messages. */
type MakeMessage = (language: Recipient['language'], stopUrl: string) => Message

export interface UserMail {
  /** Sends the link that confirms an address. It never rejects. */
  sendLink(to: Recipient): Promise<Attempt>
  /** Sends a message, which `id` names. It never rejects. */
  send(id: string, to: Recipient, make: MakeMessage): Promise<Attempt>
}

/** @param publicUrl where people reach the service */
export function createUserMail(mailer: Mailer, codes: AddressCodes, publicUrl: string): UserMail {
  // In the fragment: a browser sends it to no server, and no proxy logs it.
  const pageUrl = (purpose: 'confirm' | 'stop', to: Recipient) =>
    `${publicUrl}/console/notifications/${purpose}#${codes.codeOf(purpose, to)}`

  return {
    sendLink(to) {
      const content = emailContent(confirmationOf(to.language, pageUrl('confirm', to)))
      return mailer.send({ ...content, id: randomUUID(), to: [to.address], recipients: [to.address] })
    },
    send(id, to, make) {
      const content = emailContent(make(to.language, pageUrl('stop', to)))
      const oneClick = `${publicUrl}/api/sms/quota/notifications/stop/${codes.codeOf('stop', to)}`
      return mailer.send({
        ...content,
        id,
        to: [to.address],
        recipients: [to.address],
        // RFC 8058: mail programs show a button for it.
        headers: { 'List-Unsubscribe': `<${oneClick}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
      })
    },
  }
}
