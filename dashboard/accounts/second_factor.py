"""A second factor beside the password: codes of an app (TOTP), and recovery codes.

An app and RocketScope share a secret; a code is a digest of it and of the time in steps
of 30 seconds (RFC 6238). A code counts for its step and those beside it, since clocks
differ, and once: neither it nor an older one is accepted again. Recovery codes are for
those who have lost the app. They are 80 random bits each, so that a plain digest of
them cannot be reversed.

Wrong codes are counted in the row itself, under its lock, so that requests at the same
moment, or a cache that is away, give nobody another guess. Each ten bring a pause that
is five minutes longer than the one before, until a code is right. Whoever knows the
password can guess some 1,300 of a million codes in a month.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
from datetime import datetime, timedelta
from typing import Final

import pyotp
import segno
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import constant_time_compare
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from dashboard.models import SecondFactor, User
from dashboard.models.audit import USE_CODE, USE_RECOVERY_CODE, record

from .attempts import record_refusal
from .throttle import LIMIT, PAUSE_SECONDS, CodeThrottle

STEP_SECONDS: Final = 30
STEPS_BESIDE: Final = 1
"""How many steps an app's clock may be early or late."""
RECOVERY_CODES: Final = 10
_RECOVERY_BYTES: Final = 10
_ISSUER: Final = "RocketScope"


def may_have(user: User) -> bool:
    """Whether a user types a password here, beside which a factor makes sense."""
    if settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR == "off":
        return False
    if user.is_from_outside:
        return is_of_directory(user)
    return bool(
        settings.ROCKETSCOPE_SIGN_IN_PASSWORDS
        and user.password
        and user.has_usable_password()
    )


def is_of_directory(user: User) -> bool:
    """Whether a user's password is that of the directory, which is typed here too."""
    asked = settings.ROCKETSCOPE_LDAP
    return (
        asked is not None
        and user.is_from_outside
        and user.identity.issuer == asked.issuer
    )


def is_asked_of(user: User) -> bool:
    """Whether the right password of a user is not enough."""
    return may_have(user) and hasattr(user, "second_factor")


def is_due(user: object) -> bool:
    """Whether somebody has to set up their second factor before anything else."""
    return (
        settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR == "required"
        and isinstance(user, User)
        and may_have(user)
        and not hasattr(user, "second_factor")
    )


def new_secret() -> str:
    return pyotp.random_base32()


def qr_code(user: User, secret: str) -> SafeString:
    """Return an SVG that apps can read the secret from."""
    app = pyotp.TOTP(secret, name=user.get_username(), issuer=_ISSUER)
    code = segno.make(app.provisioning_uri(), micro=False, error="m")
    # It is made of numbers only; the name is in the squares.
    return mark_safe(code.svg_inline(light="#fff", omitsize=True))  # noqa: S308


def set_up(user: User, secret: str, code: str, *, now: datetime) -> list[str]:
    """Keep a secret of which the user's app has made a code; return recovery codes.

    Raises ValidationError if the code is wrong, or there is a second factor already.
    """
    step = _step_of(secret, _plain(code), now)
    if step is None:
        raise ValidationError(_wrong())
    codes = _new_recovery_codes()
    with transaction.atomic():
        _factor, made = SecondFactor.objects.get_or_create(
            user=user,
            defaults={
                "secret": secret,
                "set_up_at": now,
                "last_step": step,
                "recovery": [_digest(each) for each in codes],
            },
        )
        if not made:
            raise ValidationError(_("There is a second factor already."))
        record(user, "second_factor.set_up", target=user.get_username())
    return codes


@transaction.atomic
def renew_recovery_codes(user: User) -> list[str]:
    """Make new recovery codes; those of before are no longer good."""
    codes = _new_recovery_codes()
    SecondFactor.objects.filter(user=user).update(
        recovery=[_digest(each) for each in codes]
    )
    record(user, "second_factor.renew", target=user.get_username())
    return codes


@transaction.atomic
def remove(user: User, *, by: User) -> bool:
    """Remove a user's second factor; return whether there was one."""
    number, _tables = SecondFactor.objects.filter(user=user).delete()
    if number:
        record(by, "second_factor.remove", target=user.get_username())
    return bool(number)


def use_code(user: User, code: str, *, address: str, now: datetime) -> None:
    """Spend a code of the user's app, or a recovery code.

    Raises ValidationError, in words for the user, if it is wrong, was used before, or
    too many were wrong.
    """
    throttle = CodeThrottle(address)
    throttle.check()
    # What is counted has to outlast the refusal, so that it is raised afterwards.
    with transaction.atomic():
        refusal = _use(user, _plain(code), address, now)
    if refusal:
        throttle.failed()
        record_refusal(USE_CODE, user.get_username(), address)
        raise ValidationError(refusal)


def _use(user: User, code: str, address: str, now: datetime) -> str:
    """Spend a code; return why it is refused, or nothing."""
    factor = SecondFactor.objects.select_for_update().filter(user=user).first()
    if factor is None:
        return _wrong()
    if pause := _pause(factor, now):
        said = _("%(number)s wrong codes: wait %(minutes)s minutes, then try again.")
        minutes = int(pause.total_seconds() // 60)
        return said % {"number": factor.wrong, "minutes": minutes}
    step, digest = _step_of(factor.secret, code, now), _digest(code)
    if step is not None and step > factor.last_step:
        factor.last_step = step
    elif any(constant_time_compare(digest, each) for each in factor.recovery):
        factor.recovery = [each for each in factor.recovery if each != digest]
        left = {"left": len(factor.recovery)}
        name = user.get_username()
        record(user, USE_RECOVERY_CODE, target=name, details=left, address=address)
    else:
        factor.wrong, factor.wrong_at = factor.wrong + 1, now
        factor.save(update_fields=["wrong", "wrong_at"])
        return _wrong()
    factor.wrong, factor.wrong_at = 0, None
    factor.save(update_fields=["last_step", "recovery", "wrong", "wrong_at"])
    return ""


def _pause(factor: SecondFactor, now: datetime) -> timedelta | None:
    """Return the pause that goes on now, as a whole."""
    tens, rest = divmod(factor.wrong, LIMIT)
    if not tens or rest or factor.wrong_at is None:
        return None
    pause = tens * timedelta(seconds=PAUSE_SECONDS)
    # A clock that was set back does not make it longer.
    return pause if abs(now - factor.wrong_at) < pause else None


def _step_of(secret: str, code: str, now: datetime) -> int | None:
    """Return the step that a code is of, the newest first; None if it is of none."""
    # A secret that another secret key encrypted reads as empty, and is no secret.
    if not secret or not re.fullmatch(r"[0-9]{6}", code):
        return None
    try:
        app = pyotp.TOTP(secret)
    except (ValueError, binascii.Error):
        return None
    current = int(now.timestamp()) // STEP_SECONDS
    beside = range(current + STEPS_BESIDE, current - STEPS_BESIDE - 1, -1)
    matching = [
        step for step in beside if constant_time_compare(app.generate_otp(step), code)
    ]
    return matching[0] if matching else None


def _new_recovery_codes() -> list[str]:
    return [_recovery_code() for _each in range(RECOVERY_CODES)]


def _recovery_code() -> str:
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode()
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def _plain(code: str) -> str:
    """Return a code without what people type for legibility."""
    return re.sub(r"[\s-]", "", code).upper()


def _digest(code: str) -> str:
    return hashlib.sha256(_plain(code).encode()).hexdigest()


def _wrong() -> str:
    return _("This code is wrong, or was used already. Wait for the next one.")
