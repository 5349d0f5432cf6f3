import { Button } from '@mantine/core'
import { useState } from 'react'
import { newIdempotencyKey } from '../../../api/http.ts'
import { Form, Leave } from '../../../components/form.tsx'
import { Section } from '../../../components/section.tsx'
import {
  type BulkAction,
  type BulkInput,
  changeOf,
  EMPTY_INPUT,
  needsInput,
  type Selection,
  selectOf,
} from '../../../model/bulk-change.ts'
import { refetchAfter } from '../../../queries/calls.ts'
import { bulkJob, importJob } from '../../../queries/jobs.ts'
import { useCaller } from '../../../session/session.ts'
import { texts } from '../../../texts/texts.ts'
import { JobView } from '../jobs/job-view.tsx'
import { BulkFields } from './bulk-fields.tsx'
import { BulkPreviewView, type Confirmed, ExtraPreviewView } from './bulk-preview.tsx'
import { unfinishedBulk } from './unfinished.ts'

const { bulk, jobs } = texts.manyQuotas

interface BulkPanelProps {
  action: BulkAction
  title?: string
  selection: Selection
  /** What was confirmed before a reload, and goes on. */
  confirmed?: Confirmed | undefined
  onClose: () => void
}

type Step = 'input' | 'preview' | Confirmed

/** One change of all selected quotas: what it shall be, what it would do, and then how far it is. */
export default function BulkPanel({ action, title, selection, confirmed, onClose }: BulkPanelProps) {
  const [input, setInput] = useState(EMPTY_INPUT)
  const [step, setStep] = useState<Step>(confirmed ?? (needsInput(action) ? 'input' : 'preview'))
  // One key for the preview and all attempts: what was confirmed is made at most once.
  const [key] = useState(newIdempotencyKey)
  const { subject } = useCaller()
  const confirm = (next: Confirmed) => {
    unfinishedBulk.keep({ action, confirmed: next }, subject)
    setStep(next)
  }
  const back = needsInput(action) ? () => setStep('input') : onClose
  return (
    <Section title={title ?? bulk.titles[action]} isFramed>
      {step === 'input' && (
        <InputForm
          action={action}
          input={input}
          onChange={setInput}
          onClose={onClose}
          onNext={() => setStep('preview')}
        />
      )}
      {step === 'preview' &&
        (action === 'adjust' && input.isThisWindowOnly && !input.isDecrease ? (
          <ExtraPreviewView selection={selection} input={input} changeKey={key} onConfirm={confirm} onBack={back} />
        ) : (
          <BulkPreviewView
            call={{ select: selectOf(selection, Date.now()), change: changeOf(action, input), key }}
            action={action}
            selection={selection}
            onConfirm={confirm}
            onBack={back}
          />
        ))}
      {typeof step === 'object' && (
        <JobView
          job={'lines' in step ? importJob(step.lines, { isDryRun: false }) : bulkJob(step.call)}
          total={step.total}
          reportName={`sms-quota-${action}`}
          onEnd={isDone => {
            if (isDone) unfinishedBulk.forget()
            void refetchAfter('POST /admin/quota/bulk')
          }}
        >
          {() => <Button onClick={onClose}>{jobs.close}</Button>}
        </JobView>
      )}
    </Section>
  )
}

interface InputFormProps {
  action: BulkAction
  input: BulkInput
  onChange: (input: BulkInput) => void
  onNext: () => void
  onClose: () => void
}

function InputForm({ action, input, onChange, onNext, onClose }: InputFormProps) {
  return (
    <Form onSubmit={onNext} submit={bulk.preview} beside={<Leave onClick={onClose}>{bulk.cancel}</Leave>} maw="32rem">
      <BulkFields action={action} input={input} onChange={part => onChange({ ...input, ...part })} />
    </Form>
  )
}
