"""The catalogue in effect, and the change of all parts of a process to another one."""

from collections.abc import Mapping

from reporter.announcing.announcements import Announcements
from reporter.catalogue.entries import Catalogue
from reporter.controller.controller import Controller
from reporter.controller.coverage import find_unchecked
from reporter.controller.evaluation_settings import make_evaluation_settings
from reporter.controller.inputs import Inputs
from reporter.controller.overlay_watch import ReloadRefused
from reporter.controller.passes import AdaptedEvaluation
from reporter.controller.roll_up_cache import RollUpCache
from reporter.controller.unread import UnreadKinds
from reporter.evaluation.catalogue_change import change_catalogue
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.probe_fault_log import ProbeFaultLog
from reporter.evaluation.registry import PROBES, SPECS
from reporter.metrics.page import Metrics
from reporter.model.enums import Reason
from reporter.rollup.rules import RollUpRules
from reporter.settings import Settings


class EffectiveCatalogue:
    """Makes what depends on the catalogue in effect. *catalogue*: changes between two passes."""

    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self.catalogue, self._settings = catalogue, settings

    def make_evaluator(self) -> Evaluator:
        """Build the evaluator of this catalogue, with the probes and settings of the process."""
        settings = self._settings
        return Evaluator(
            self.catalogue,
            PROBES,
            settings.flag_texts,
            make_evaluation_settings(settings, self.find_unchecked()),
            ProbeFaultLog().log,
        )

    def make_rules(self) -> RollUpRules:
        """Build the rules by which the roll-up ranks and times findings with this catalogue."""
        settings = self._settings
        return RollUpRules(self.catalogue, settings.flag_texts, settings.startup_grace)

    def find_unchecked(self) -> Mapping[Reason, str]:
        """
        Return the reasons that check nothing with the flags of the process, with what to set.
        """
        return find_unchecked(self.catalogue, SPECS, self._settings.flag_texts)


class CatalogueChanger:
    """Changes all parts of a process to another catalogue at once, between two passes."""

    def __init__(  # noqa: PLR0913  each part that knows the catalogue
        self,
        settings: Settings,
        effective: EffectiveCatalogue,
        *,
        inputs: Inputs,
        unread: UnreadKinds,
        controller: Controller,
        announcements: Announcements,
        rollup: RollUpCache,
        metrics: Metrics,
    ) -> None:
        self._settings, self._effective = settings, effective
        self._inputs, self._unread, self._controller = inputs, unread, controller
        self._announcements, self._rollup, self._metrics = announcements, rollup, metrics

    async def apply(self, catalogue: Catalogue) -> None:
        """
        Evaluate and announce by another catalogue; return once all parts do.

        Raises ReloadRefused, or what a fault raises; then all parts go on with the one before.
        """
        if why := self._inputs.why_restart(catalogue):
            raise ReloadRefused(f"{why}; restart the reporter")
        next_ = EffectiveCatalogue(self._settings, catalogue)
        evaluator, rules = next_.make_evaluator(), next_.make_rules()

        def adapt(before: Evaluation) -> AdaptedEvaluation:
            # Between two passes: the old evaluator must not read objects that are decoded in another way.
            settings = evaluator.settings
            after = change_catalogue(before, catalogue, settings)
            read = self._inputs.prepare_catalogue(catalogue)
            announce = self._announcements.prepare_catalogue(catalogue, settings, after)

            def commit() -> None:
                read()
                announce()
                self._rollup.change_rules(rules)
                self._unread.change_catalogue(catalogue)
                self._metrics.add_reasons(catalogue)
                self._effective.catalogue = catalogue

            return AdaptedEvaluation(after, commit)

        await self._controller.replace_evaluator(evaluator, adapt)
