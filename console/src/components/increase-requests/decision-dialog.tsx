import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Approval,
  approvalOf,
  canDecide,
  fullApproval,
  type IncreaseRequest,
  noteOf,
} from '../../model/increase-requests.ts'
import { unitsIn } from '../../model/typed.ts'
import { useChange } from '../../queries/calls.ts'
import { requestQuery } from '../../queries/increase-requests.ts'
import { adjustsQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { Dialog, useDialogInput } from '../dialog.tsx'
import { Form } from '../form.tsx'
import { type FieldErrors, fieldErrors } from '../form-errors.ts'
import { QuotaLink } from '../links.tsx'
import { EmptyState, Loaded, Loading } from '../loaded.tsx'
import { TextField } from '../text-field.tsx'
import { CapNotice } from '../user/cap-notice.tsx'
import { UserLink } from '../user-link.tsx'
import { End, Outcome } from './columns.tsx'
import { askerOf, type Deciding } from './decisions.tsx'

const { decision: words } = texts.increaseRequests

interface DecisionDialogProps {
  /** Null closes the dialog. */
  deciding: Deciding | null
  onClose: () => void
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Shows a request as it is now, and decides it if it is open and the caller may. */
export default function DecisionDialog({ deciding, onClose, onDone }: DecisionDialogProps) {
  // Keeps the content while the dialog closes.
  const [shown, setShown] = useState(deciding)
  if (deciding !== null && deciding !== shown) setShown(deciding)
  return (
    <Dialog title={words.title} isOpen={deciding !== null} onClose={onClose}>
      {shown !== null && <Latest deciding={shown} onClose={onClose} onDone={onDone} />}
    </Dialog>
  )
}

function Latest({ deciding, onClose, onDone }: DecisionDialogProps & { deciding: Deciding }) {
  const latest = useQuery(requestQuery(deciding))
  const caller = useCaller()
  const mayDecide = adjustsQuotas(caller)
  return (
    <Loaded query={latest} loading={<Loading rows={5} height={44} />}>
      {request =>
        request === null ? (
          <EmptyState title={words.notFound}>{words.notFoundAbout}</EmptyState>
        ) : (
          <Stack gap="md">
            <About request={request} />
            {request.status === 'open' && mayDecide && canDecide(request, caller.adjust_limit) ? (
              <DecisionForm request={request} first={deciding.decision} onClose={onClose} onDone={onDone} />
            ) : (
              <div>
                <Outcome request={request} />
                {request.status === 'open' && mayDecide && (
                  <Text size="sm">{texts.increaseRequests.askAdministrator}</Text>
                )}
              </div>
            )}
          </Stack>
        )
      }
    </Loaded>
  )
}

/** Who asks for how many units, until when, for which quota, and why. */
function About({ request }: { request: IncreaseRequest }) {
  const { user_id, units, until, quota_id, reason } = request
  return (
    <div>
      <Text size="sm" component="div">
        {words.asks(
          <UserLink user={request} unnamed={texts.shell.account.user(user_id)} inherit underline="always" />,
          units,
          <End at={until} />,
          <QuotaLink id={quota_id} kind="grant" user={{ user_id, isOwn: false }} />,
        )}
      </Text>
      <Text size="sm" component="div" mt={6}>
        <bdi>{reason}</bdi>
      </Text>
    </div>
  )
}

interface DecisionFormProps extends Omit<DecisionDialogProps, 'deciding'> {
  request: IncreaseRequest
  /** What the caller came for. */
  first: Deciding['decision']
}

function DecisionForm({ request, first, onClose, onDone }: DecisionFormProps) {
  const { adjust_limit: bound } = useCaller()
  const [input, setInput] = useState<Approval>(() => fullApproval(request))
  const [decision, setDecision] = useState(first)
  const change = (part: Partial<Approval>) => setInput({ ...input, ...part })
  const isChanged = JSON.stringify(input) !== JSON.stringify(fullApproval(request))
  const deciding = useChange(`POST /admin/requests/{id}/${decision}`, ({ granted }) => {
    const asker = askerOf(request)
    onDone(granted === null ? words.declined(asker) : words.approved(asker, granted.units))
    onClose()
  })
  useDialogInput(isChanged)
  const errors = fieldErrors(deciding.error, ['units', 'until', 'note'], words.errors)

  function submit() {
    deciding.mutate({ id: request.id, body: decision === 'approve' ? approvalOf(input, request) : noteOf(input) })
  }
  return (
    <Form
      sending={deciding}
      rest={errors.rest}
      onSubmit={submit}
      submit={words.submit[decision]}
      beside={
        <Button variant="subtle" onClick={() => setDecision(decision === 'approve' ? 'decline' : 'approve')}>
          {words.instead[decision]}
        </Button>
      }
    >
      {decision === 'approve' && (
        <CapNotice user={{ user_id: request.user_id, isOwn: false }} units={unitsIn(input.units)} />
      )}
      {decision === 'approve' && <TermsFields input={input} bound={bound} errors={errors} onChange={change} />}
      <TextField
        label={words.note}
        about={words.noteAbout}
        value={input.note}
        onChange={note => change({ note })}
        error={errors.at('note')}
      />
    </Form>
  )
}

interface TermsProps {
  input: Approval
  bound: number | null
  errors: FieldErrors<'units' | 'until' | 'note'>
  onChange: (part: Partial<Approval>) => void
}

/** How many units are given, and until when. */
function TermsFields({ input, bound, errors, onChange }: TermsProps) {
  return (
    <>
      <TextField
        label={words.units}
        about={words.unitsAbout(bound)}
        value={input.units}
        onChange={units => onChange({ units })}
        error={errors.at('units')}
        required
        isNumber
      />
      <TextField
        type="datetime-local"
        step={1}
        label={words.until}
        about={words.untilAbout}
        value={input.until}
        onChange={until => onChange({ until })}
        error={errors.at('until')}
      />
    </>
  )
}
